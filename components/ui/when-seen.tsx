"use client";

import { useEffect, useRef, useState, type ReactNode } from "react";

/** Starts to draw a little before the place comes into view. */
const MARGIN = "200px";

interface WhenSeenProps {
  /** As large as the children, so that nothing moves. */
  readonly placeholder: ReactNode;
  readonly children: ReactNode;
}

/** Draws its children once their place is in view or near it; until then their code is not loaded, if they are dynamic. */
export const WhenSeen = ({ placeholder, children }: WhenSeenProps): ReactNode => {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return seen ? children : <div ref={place}>{placeholder}</div>;
};
