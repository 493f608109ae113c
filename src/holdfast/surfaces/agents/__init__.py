"""Programs that Holdfast is put into: one module each plans, takes out and checks.

`plans` knows what an edit is, `writing` carries edits out and takes them back, `jsonc` and the like
change a settings file without touching what others wrote in it.
"""
