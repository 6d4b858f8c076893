"use client";

import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { Toaster as Sonner } from "sonner";

export const ToasterView = (): ReactNode => {
  const { resolvedTheme } = useTheme();
  return (
    <Sonner
      theme={resolvedTheme === "dark" ? "dark" : "light"}
      position="bottom-right"
      toastOptions={{
        classNames: {
          toast:
            "rounded-card! border! border-border! bg-surface! text-fg! shadow-float! font-sans!",
          description: "text-fg-2!",
        },
      }}
    />
  );
};
