"""Language models and word tables: summarizers that answer an `Ask`, tokenizers, similar words.

No language model is called unless the user names one.
"""
