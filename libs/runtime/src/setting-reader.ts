/** Reads one variable: the value, or an Error whose message completes "NAME …". */
export type SettingReader<T> = (text: string) => T | Error;
