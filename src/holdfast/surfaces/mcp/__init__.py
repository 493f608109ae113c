"""`holdfast mcp`: a server of the Model Context Protocol, over stdio or HTTP.

The protocol is implemented here and not with the official library, for two measured reasons. A
client asks for the tools once, early, and works without them if the answer is late; the official
library alone takes longer to import than that allows (`python -m benchmarks mcp`). And the library
does not answer a frame that it cannot parse, so the client waits forever. Our part is small: a
frame is one line of JSON, and there are a dozen methods. The tests use the official client library.

`frames` parses input, `protocol` encodes answers, `server` dispatches methods, `stdio` and `http`
are the transports. `tools`, `resources` and `prompts` only describe what is offered, so they load
fast; `calls`, `packet_calls`, `read_resource` and `fill_prompt` are imported when they are needed.
"""
