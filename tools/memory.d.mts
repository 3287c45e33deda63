export function memoryFlags(service: { works: boolean }): string[];

export const memorySettings: Readonly<Record<string, string>>;
