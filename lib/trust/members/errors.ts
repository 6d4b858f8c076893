import { DomainError } from "@/lib/core/errors";
import { maskEmail } from "@/lib/news/mail/service";

export const lastOwner = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This person is the last owner of the project, and a project keeps one. Make another member an owner first.",
  );

export const ownersOnly = (): DomainError =>
  new DomainError(
    "forbidden",
    "Only an owner may make, change or remove owners of the project.",
  );

export const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The member was changed meanwhile. Read the list again; nothing was changed.",
  );

export const alreadyMember = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This person is a member of the project already. Change the role in the list of members.",
  );

export const needsOwnAddress = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Verify an e-mail address of your own first (Settings, or PATCH /me): the invitation names it, so that the person knows who invites. Nobody was invited.",
  );

export const projectIsFull = (max: number): DomainError =>
  new DomainError(
    "invalid_state",
    `The project has ${String(max)} members, which is the most it may have.`,
  );

export const notOpen = (status: "accepted" | "withdrawn" | "expired"): DomainError => {
  const what =
    status === "accepted"
      ? "was accepted already"
      : status === "expired"
        ? "has expired"
        : "was withdrawn";
  return new DomainError(
    "invalid_state",
    `This invitation ${what}. Ask who invited you for a new one.`,
  );
};

export const otherAddress = (invited: string, own: string | null): DomainError => {
  const whose =
    own === null
      ? "Verify that address first, and accept then."
      : `Your verified address is ${maskEmail(own)}: sign in as the person who was invited, or ask for an invitation to your address.`;
  return new DomainError(
    "forbidden",
    `This invitation was mailed to ${maskEmail(invited)}. ${whose}`,
  );
};
