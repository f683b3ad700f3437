"""The tests of Selfright. A package, so that ``tests.support`` can be imported wherever pytest is started."""
