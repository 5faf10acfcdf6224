def total(orders):
    amount = 0
    for order in orders:
        amount += order.quantity * order.price
    return round(amount)
