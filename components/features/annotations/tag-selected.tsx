"use client";

import { Tag } from "lucide-react";
import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import type { BulkAct } from "@/components/ui/selection";

// The dialog is loaded on demand, because its form needs zod and the lists do not.
const TagDialog = dynamic(() => import("./tag-dialog").then((module) => module.TagDialog), {
  ssr: false,
});

/** Whether a movement can have a memo and tags. Only operations and payouts can. */
const isTaggable = (id: string): boolean => id.startsWith("op_") || id.startsWith("po_");

interface TagSelectedProps {
  readonly selected: readonly string[];
  readonly act: BulkAct;
}

export const TagSelected = ({ selected, act }: TagSelectedProps): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const isPossible = selected.every(isTaggable);
  return (
    <>
      <Button
        loading={act.busy}
        disabled={!isPossible}
        title={isPossible ? undefined : "Fundings of accounts have no tags."}
        onClick={() => setOpen(true)}
      >
        {act.busy ? null : <Tag aria-hidden />} Tag
      </Button>
      {isOpen ? (
        <TagDialog count={selected.length} act={act} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
};
