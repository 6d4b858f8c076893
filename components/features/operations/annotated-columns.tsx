"use client";

import { useMemo, type ReactNode } from "react";
import { useAnnotations, type Annotation } from "@/components/features/annotations/use-annotations";
import { Badge } from "@/components/ui/badge";
import type { Column } from "@/components/ui/table";
import { ACTIVITY_COLUMNS } from "./activity-columns";
import type { Operation } from "./types";

const Note = ({ annotation }: { readonly annotation: Annotation | undefined }): ReactNode =>
  annotation === undefined ? null : (
    <span className="flex max-w-32 items-center gap-1 overflow-hidden">
      {annotation.memo === "" ? null : (
        <span className="truncate text-fg-2" title={annotation.memo}>
          {annotation.memo}
        </span>
      )}
      {annotation.tags.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </span>
  );

/** The columns of the list; where one of the operations has a memo or tags, a column with them. */
export const useAnnotatedColumns = (operations: readonly Operation[]): readonly Column<Operation>[] => {
  const annotations = useAnnotations(operations.map(({ operationId }) => operationId));
  return useMemo(() => {
    if (annotations.size === 0) return ACTIVITY_COLUMNS;
    const note: Column<Operation> = {
      id: "note",
      header: "Memo",
      phone: "hidden",
      priority: "lowest",
      cell: ({ operationId }) => <Note annotation={annotations.get(operationId)} />,
    };
    const at = ACTIVITY_COLUMNS.findIndex(({ id }) => id === "time");
    return [...ACTIVITY_COLUMNS.slice(0, at), note, ...ACTIVITY_COLUMNS.slice(at)];
  }, [annotations]);
};
