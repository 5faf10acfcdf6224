export interface Item {
	name: string;
	price: number;
	count: number;
}

export function subtotal(items: Item[]): number {
	let total = 0;
	for (const item of items) {
		if (item.count < 1) {
			continue;
		}
		total += item.price * item.count;
	}
	return total;
}

export function shipping(items: Item[]): number {
	let total = 0;
	for (const item of items) {
		if (item.count < 1) {
			continue;
		}
		total += 0.5 * item.count;
	}
	return Math.max(total, 3);
}
