"use client";

import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { Toaster as Sonner } from "sonner";

/** Short notes at the edge; say them with `toast` of sonner. Messages that people must act on belong into the page instead. */
export const Toaster = (): ReactNode => {
  const { resolvedTheme } = useTheme();
  return (
    <Sonner
      theme={resolvedTheme === "dark" ? "dark" : "light"}
      position="bottom-right"
      toastOptions={{
        classNames: {
          toast: "rounded-card! border! border-border! bg-surface! text-fg! shadow-float! font-sans!",
          description: "text-fg-2!",
        },
      }}
    />
  );
};
