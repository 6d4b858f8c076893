"use client";

import type { ReactNode } from "react";
import { encode } from "uqr";

const QUIET_MODULES = 4;

interface QrCodeProps {
  readonly text: string;
  /** Text for screen readers. */
  readonly label: string;
}

/**
 * A QR code, drawn in the browser so that the text is not sent anywhere. It is dark on white in
 * both themes, because cameras expect that.
 */
export const QrCode = ({ text, label }: QrCodeProps): ReactNode => {
  const { data, size } = encode(text, { border: QUIET_MODULES });
  const path = data
    .flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${String(x)} ${String(y)}h1v1h-1z`] : [])),
    )
    .join("");
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${String(size)} ${String(size)}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-card border"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};
