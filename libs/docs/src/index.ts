export { type Block, groupBlocks } from './blocks.ts';
export { type Guide, includesOf, readGuides, readMarkdown } from './guide.ts';
export { registerGuides } from './routes.ts';
export type { CodeSample } from './samples.ts';
export type { DocsSite } from './site.ts';
export { errorsMarkdown, markdownTable } from './tables.ts';
