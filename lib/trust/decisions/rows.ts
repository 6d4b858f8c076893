import { approverRole } from "@/lib/contracts/approval-requirement";
import { bool, int, table, text, time, bytes, arrayOf, oneOf } from "@/lib/platform/db/table";

/** Table `decision_request`: an open request, as it is stored when it is made. */
export const newRequests = table({
  projectId: text,
  id: text,
  subjectType: text,
  subjectId: text,
  /** SHA-256 of everything that is approved. */
  digest: bytes,
  title: text,
  lines: arrayOf(text),
  maker: text,
  makerUserId: text,
  otherMakers: arrayOf(text),
  votesRequired: int,
  roles: arrayOf(oneOf(approverRole)),
  excludeMaker: bool,
  demandedBy: arrayOf(text),
  private: bool,
  createdAt: time,
  expiresAt: time,
});

export const requirements = table({
  count: int,
  roles: arrayOf(oneOf(approverRole)),
  excludeMaker: bool,
});

export const votingSettings = table({
  count: int,
  roles: arrayOf(oneOf(approverRole)),
  excludeMaker: bool,
  exemptKeys: bool,
});
