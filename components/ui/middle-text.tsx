"use client";

import type { ReactNode } from "react";
import { Tooltip } from "./tooltip";

interface MiddleTextProps {
  readonly text: string;
  /** The whole value, shown on hover and focus, and copied; the text unless given. */
  readonly full?: string;
}

const TAIL = 10;

/** One line that loses its middle where there is no room: the beginning says where it goes, the end tells similar values apart. */
export const MiddleText = ({ text, full = text }: MiddleTextProps): ReactNode => (
  <Tooltip content={full}>
    <span
      className="flex min-w-0 cursor-help rounded-tag"
      tabIndex={0}
      onCopy={(event) => {
        event.clipboardData.setData("text/plain", full);
        event.preventDefault();
      }}
    >
      <span className="sr-only">{text}</span>
      <span aria-hidden className="truncate">
        {text.slice(0, -TAIL)}
      </span>
      <span aria-hidden className="shrink-0">
        {text.slice(-TAIL)}
      </span>
    </span>
  </Tooltip>
);
