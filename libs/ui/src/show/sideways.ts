import { type RefObject, useEffect, useState } from 'react';

/** Whether the content of an element is wider than the element, now and whenever one of them changes. */
export function useIsSideways(room: RefObject<HTMLElement | null>): boolean {
  const [isSideways, setIsSideways] = useState(false);
  useEffect(() => {
    const element = room.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setIsSideways(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, [room]);
  return isSideways;
}
