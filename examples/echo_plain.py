"""A strategy that imports nothing: matching signatures are enough."""


class Echo:
    def get_parameters(self):
        return [{"name": "query", "type": "string", "required": True}]

    def invoke(self, *, params, **_):
        yield "You said: "
        yield {"type": "text", "message": {"text": params["query"]}}
