export function memoryFlags(product: 'payments' | 'toolhub'): string[];

export const memorySettings: Readonly<Record<string, string>>;
