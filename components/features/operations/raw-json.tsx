"use client";

import type { ReactNode } from "react";
import { CodeBlock } from "@/components/ui/code-block";
import { Folded } from "@/components/ui/folded";
import { useHideableJson } from "@/components/ui/hidden-amounts";

export const RawJson = ({ value }: { readonly value: unknown }): ReactNode => {
  const hideable = useHideableJson();
  return (
    <Folded title="Raw JSON">
      <div className="pt-4">
        <CodeBlock label="raw JSON" code={hideable(JSON.stringify(value, null, 2))} />
      </div>
    </Folded>
  );
};
