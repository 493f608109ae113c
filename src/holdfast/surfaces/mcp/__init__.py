"""`holdfast mcp`: the Model Context Protocol, over pipes or over HTTP.

The protocol is spoken by hand, for two measured reasons. A client asks for the tools once and
early, and does without them if they come late; the official library alone takes longer to import
than we have to answer (`python -m benchmarks mcp`). And a frame that it cannot read gets no answer
from it, so that its sender waits for good. What is ours is small: a frame is one line of JSON, and
there are a dozen methods. The official client library is what the tests hold against it.

`frames` reads what comes in, `protocol` says how things are spelled, `server` answers, `stdio` and
`http` carry. `tools`, `resources`, `prompts` say what there is, and load nothing; what is done
about it is in `calls` and `packets`, `addresses`, `prompting`, and is loaded when it is asked for.
"""
