import type { ReactNode } from "react";
import { CopyButton } from "@/components/ui/button";

export const HashValue = ({ value }: { readonly value: string }): ReactNode => (
  <span className="inline-flex max-w-full items-center gap-0.5">
    <code className="min-w-0 font-mono text-sm break-all">{value}</code>
    <CopyButton value={value} label="Copy hash" />
  </span>
);
