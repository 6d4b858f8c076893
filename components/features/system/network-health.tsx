"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { SIGNING_PART, usePartName, useReadiness } from "./use-readiness";

/** A dot and a word: whether everything that the service stands on works. */
export const NetworkHealth = (): ReactNode => {
  const partName = usePartName();
  const { data, isError, isPending } = useReadiness();
  const down = data?.parts.filter((part) => !part.ok) ?? [];
  const view = isPending
    ? { dot: "bg-control", text: "Checking …" }
    : isError
      ? { dot: "bg-danger", text: "The service does not answer" }
      : down.some(({ name }) => name === SIGNING_PART)
        ? { dot: "bg-danger", text: "Payments are paused" }
        : down.length > 0
          ? { dot: "bg-warning", text: `Not working: ${down.map((part) => partName(part.name)).join(", ")}` }
          : { dot: "bg-success", text: "All systems operational" };
  return (
    <Link
      href="/#running"
      className="flex min-h-8 items-center gap-2 rounded-control px-2.5 text-sm text-fg-2 hover:bg-sunken"
    >
      <span className={cn("size-2 shrink-0 rounded-full", view.dot)} aria-hidden />
      <span className="min-w-0 break-words">{view.text}</span>
    </Link>
  );
};
