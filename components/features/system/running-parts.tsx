"use client";

import { CircleCheck, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { usePartName, useReadiness, type Readiness } from "./use-readiness";

/** The parts of the service, whether each works, and how fast it answers. */
export const RunningParts = (): ReactNode => {
  const { data, error, isPending, refetch } = useReadiness();
  return (
    <Card id="running" title="What is running" flush>
      {isPending ? (
        <LoadingRows what="the parts of the service" />
      ) : data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <ul className="divide-y">
          {data.parts.map((part) => (
            <PartLine key={part.name} part={part} />
          ))}
        </ul>
      )}
    </Card>
  );
};

const PartLine = ({ part }: { readonly part: Readiness["parts"][number] }): ReactNode => {
  const name = usePartName()(part.name);
  // A chain's detail begins with its name, which stands at the left already.
  const detail = part.detail.startsWith(`${name}, `) ? part.detail.slice(name.length + 2) : part.detail;
  return (
    <li className="flex min-h-9 items-center gap-2 px-4 py-1">
      {part.ok ? (
        <CircleCheck className="size-4 shrink-0 text-success" aria-hidden />
      ) : (
        <CircleX className="size-4 shrink-0 text-danger" aria-hidden />
      )}
      <span className="font-medium first-letter:uppercase">{name}</span>
      <span className="sr-only">{part.ok ? "works" : "does not work"}</span>
      <span className="ml-auto truncate text-right text-sm text-fg-2" title={part.detail}>
        {detail}
      </span>
      {part.latencyMs === null ? null : (
        <span className="num text-right text-sm text-fg-3">{Math.max(1, Math.round(part.latencyMs))} ms</span>
      )}
    </li>
  );
};
