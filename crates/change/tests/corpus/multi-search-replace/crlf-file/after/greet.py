def greet(name):
    text = "Hello, " + name
    return text


def part(name):
    text = "See you, " + name
    log(text)
    return text
