"use client";

import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { CodeBlock } from "@/components/ui/code-block";
import { useHideableJson } from "@/components/ui/hideable-text";

/** The record as the API gives it, folded away. */
export const RawJson = ({ value }: { readonly value: unknown }): ReactNode => {
  const hideable = useHideableJson();
  return (
    <details className="group rounded-card border bg-surface">
      <summary className="flex h-10 cursor-pointer list-none items-center gap-2 px-4 text-fg-2 hover:text-fg">
        <ChevronRight className="size-4 transition-transform duration-150 group-open:rotate-90" aria-hidden />
        Raw JSON
      </summary>
      <div className="border-t p-4">
        <CodeBlock label="raw JSON" code={hideable(JSON.stringify(value, null, 2))} />
      </div>
    </details>
  );
};
