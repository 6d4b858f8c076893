export type SubjectType = "operation" | "payout";

/** Memo and tags of an operation or a payout. */
export interface Annotation {
  readonly projectId: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  /** Empty where people noted nothing. */
  readonly memo: string;
  readonly tags: readonly string[];
  readonly updatedBy: string;
  readonly updatedAt: Date;
}
