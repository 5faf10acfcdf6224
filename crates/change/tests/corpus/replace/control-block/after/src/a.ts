export const a = 4;
