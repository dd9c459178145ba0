"""The tools for any MCP client, over stdio or loopback HTTP.

server    the process: whose stdout it is, which transport
bearer    who may ask over HTTP
schema    the tools as the MCP SDK wants them
tools     the tools themselves: what they are told to be, what they check, what they do
replies   what they answer: text for the agent, and the same as data
refusals  answers to lines that the SDK drops without a word
"""
