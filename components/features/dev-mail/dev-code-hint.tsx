"use client";

import type { ReactNode } from "react";
import { usePublicConfig } from "@/components/providers/public-config";

export const DevCodeHint = (): ReactNode => {
  const { devnet, env } = usePublicConfig();
  if (!devnet || env !== "development") return null;
  return (
    <p className="text-sm text-fg-2">
      Development: the mail is in the{" "}
      <a href="/dev/mail" target="_blank" className="link">
        mail page (new tab)
      </a>
      .
    </p>
  );
};
