import type { Clock } from "@/lib/core/clock";
import type { Queryable } from "@/lib/db/client";
import { invitationStatus } from "./invitation";
import { findByToken } from "./invitation-repository";
import { hashOf } from "./invitation-token";

export interface OpenInvitations {
  /** Whether the token is of an invitation that can be accepted now. */
  isOpen(db: Queryable, token: string): Promise<boolean>;
}

/** Invitations as the sign-in sees them: an open one lets its holder in where sign-up is closed. */
export const createOpenInvitations = ({ clock }: { readonly clock: Clock }): OpenInvitations => ({
  isOpen: async (db, token) => {
    const invitation = await findByToken(db, hashOf(token));
    return invitation !== null && invitationStatus(invitation, clock.now()) === "open";
  },
});
