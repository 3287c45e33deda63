export interface IndexedSection {
  title: string;
  heading: string;
  url: string;
  text: string;
}

export function find(
  sections: readonly IndexedSection[],
  question: string,
): (IndexedSection & { excerpt: string })[];
