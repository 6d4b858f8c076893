/** Approvals that wait, kept in this tab, so that a reload in the middle goes on where the person was. Codes and signatures are not kept. */
import { z } from "zod";

const PREFIX = "causeway.approval.";

const keptApproval = z.object({
  /** The person and the project: what another person left in this tab is not shown. */
  owner: z.string(),
  asked: z.object({ approvalId: z.string(), message: z.string(), expiresAt: z.string() }),
  /** The input of the change that waits for the approval; absent for a change without input. */
  input: z.unknown().optional(),
  /** False: the person closed the dialog. It shows the approval again when it is opened, and does not open by itself. */
  open: z.boolean(),
});

type KeptApproval = z.infer<typeof keptApproval>;

const read = (key: string): KeptApproval | null => {
  try {
    const kept = keptApproval.parse(JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null"));
    return Date.parse(kept.asked.expiresAt) > Date.now() ? kept : null;
  } catch {
    return null;
  }
};

/** The owner's approval of this name; null where there is none or it has expired. */
export const readKeptApproval = (key: string, owner: string): KeptApproval | null => {
  const kept = read(key);
  return kept?.owner === owner ? kept : null;
};

export const keepApproval = (key: string, kept: KeptApproval): void => {
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};

/** Notes that the dialog of a kept approval is shown, or is closed. */
export const markKeptApproval = (key: string, open: boolean): void => {
  const kept = read(key);
  if (kept !== null) keepApproval(key, { ...kept, open });
};

export const dropKeptApproval = (key: string): void => {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // As above.
  }
};

/** The rest of the name of the owner's approval whose name begins so and whose dialog was open; null where there is none. */
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
