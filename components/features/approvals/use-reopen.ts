"use client";

import { useEffect, useRef } from "react";
import { useMe } from "@/components/features/profile/use-me";
import { useProject } from "@/components/features/projects/use-project";
import { openKeptApproval } from "./kept-approval";

/** Names the person and the project that an approval belongs to; undefined while they are read. */
export const useApprovalOwner = (): string | undefined => {
  const me = useMe().data;
  const { project } = useProject();
  return me === undefined ? undefined : `${me.id} ${project?.id ?? ""}`;
};

/**
 * Opens a dialog again whose approval waited when the page was reloaded.
 * @param begin how the names of its approvals begin, as `useApprovable` is given them
 * @param open is called with the rest of the name
 */
export const useReopen = (begin: string, open: (rest: string) => void): void => {
  const owner = useApprovalOwner();
  const isDone = useRef(false);
  useEffect(() => {
    if (owner === undefined || isDone.current) return;
    isDone.current = true;
    const rest = openKeptApproval(begin, owner);
    if (rest !== null) open(rest);
  }, [owner, begin, open]);
};
