"use client";

import { useEffect, useRef } from "react";
import { z } from "zod";
import { useMe } from "@/components/features/profile/use-me";
import { useProject } from "@/components/features/projects/use-project";
import { tabStore } from "@/components/ui/tab-store";
import { PROOFS } from "@/lib/contracts/approvable-changes";

/**
 * Open approvals, stored in this tab so that the person can continue after a reload. Codes and
 * signatures are not stored.
 */

const PREFIX = "causeway.approval.";

const keptApproval = z.object({
  /**
   * Ids of the person and the project. Approvals that another person left in this tab are ignored.
   */
  owner: z.string(),
  asked: z.object({
    approvalId: z.string(),
    message: z.string(),
    expiresAt: z.string(),
    proofs: z.array(z.enum(PROOFS)),
  }),
  input: z.unknown().optional(),
  /**
   * Whether a reload opens the dialog. False after the person closed it; opening it by hand then
   * shows the approval again.
   */
  open: z.boolean(),
});

type KeptApproval = z.infer<typeof keptApproval>;

const storeOf = (key: string) => tabStore(PREFIX + key, keptApproval);

const read = (key: string): KeptApproval | null => {
  const kept = storeOf(key).read();
  return kept !== null && Date.parse(kept.asked.expiresAt) > Date.now() ? kept : null;
};

/**
 * The stored approval with this key; null when there is none, it has expired, or it has another
 * owner.
 */
export const readKeptApproval = (key: string, owner: string): KeptApproval | null => {
  const kept = read(key);
  return kept?.owner === owner ? kept : null;
};

export const keepApproval = (key: string, kept: KeptApproval): void => storeOf(key).save(kept);

export const markKeptApproval = (key: string, open: boolean): void => {
  const kept = read(key);
  if (kept !== null) keepApproval(key, { ...kept, open });
};

export const dropKeptApproval = (key: string): void => storeOf(key).drop();

/**
 * Finds an approval of the owner whose key begins with `begin` and whose dialog was open. Returns
 * the rest of the key, or null.
 */
export const openKeptApproval = (begin: string, owner: string): string | null => {
  try {
    const names = Object.keys(sessionStorage).flatMap((name) =>
      name.startsWith(PREFIX + begin) ? [name.slice(PREFIX.length)] : [],
    );
    const found = names.find((name) => readKeptApproval(name, owner)?.open === true);
    return found === undefined ? null : found.slice(begin.length);
  } catch {
    return null;
  }
};

/**
 * The owner of approvals: the current person in the current project. Undefined until the person is
 * loaded.
 */
export const useApprovalOwner = (): string | undefined => {
  const me = useMe().data;
  const { project } = useProject();
  return me === undefined ? undefined : `${me.id} ${project?.id ?? ""}`;
};

/**
 * After a reload, opens the dialog of an approval again if it was open before.
 * @param begin start of the approval's key, which is the first argument of `useApprovable`
 * @param open called with the rest of the key
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
