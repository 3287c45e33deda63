import type { CodeSample } from './samples.ts';

/** The documentation of one product: guides in Markdown, and the reference of its API. */
export interface DocsSite {
  /** `Payments`: the name in the head of every page. */
  product: string;
  /** Where the Markdown files are. */
  folder: URL;
  /** The guides in the order in which they are read; `index` is the start page and stands in no group. */
  groups: readonly GuideGroup[];
  /** What `{{name}}` stands for in the Markdown: tables and figures that come from the code, as Markdown. */
  includes: Readonly<Record<string, string>>;
  publicUrl: string;
  /** The address that the Markdown uses for this service; readers see the real one. */
  writtenUrl: string;
  /** Other places of the product, in the head of every page. */
  links: readonly { label: string; href: string }[];
  /** Code for the operations of the reference, by `operationId`. */
  samples?: ReadonlyMap<string, readonly CodeSample[]>;
  /** A token that anybody may use, with which the reference can send requests at once. */
  tryOut?: { scheme: string; token: string };
  /** The variable of the shell that holds the token of a security scheme, in code that calls with curl. */
  tokens: Readonly<Record<string, string>>;
}

export interface GuideGroup {
  title: string;
  /** Names of files, without `.md`. */
  pages: readonly string[];
}
