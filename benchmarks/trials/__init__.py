"""Trials: how often does a tool call a difference that is none, or miss one that is?"""
