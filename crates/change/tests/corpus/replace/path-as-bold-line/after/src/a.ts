export const a = 3;
