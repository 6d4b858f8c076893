"use client";

import { useLayoutEffect, useRef, useState, type RefObject } from "react";

/** Drawn before the width is known. */
const FIRST_PX = 720;

/** The width of an element in whole pixels, kept up to date. */
export const useWidth = (): readonly [RefObject<HTMLDivElement | null>, number] => {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(FIRST_PX);
  useLayoutEffect(() => {
    const node = element.current;
    if (node === null) return undefined;
    const measure = (): void => setWidth(Math.max(240, Math.floor(node.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [element, width];
};
