"""Words that stand in any text and say nothing of what it is about."""

_COMMON = """
a about after again all also am an and any are as at be because been before being between both but
by can could did do does doing done during each either etc ever few for from get gets got had has
have having he her here hers him his how i if in into is it its itself just kind let like likely
many may me might more most much must my no nor not now of off on once only or other our ours out
over own per same shall she should so some such than that the their theirs them then there these
they this those through to too type under until up us very via was we were what when where which
while who whom whose why will with would yes you your yours s t d ll m re ve don didn doesn isn
wasn won
"""
COMMON = frozenset(_COMMON.split())
