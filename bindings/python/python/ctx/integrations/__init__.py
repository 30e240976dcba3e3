"""Integrations with frameworks. Import the module of a framework; its extra installs the framework.

``pip install "ctx-engine[langchain]"``, for example, and ``from ctx.integrations.langchain import CtxMiddleware``.
"""
