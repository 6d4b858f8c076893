export interface User {
  readonly id: string;
  /** Checksummed. */
  readonly address: string;
  readonly email: string | null;
  readonly emailVerifiedAt: Date | null;
  /** The chain whose contract signs for the person; null for a plain account, which is the same on every chain. */
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

/** Selects the fields of a row of the table `app_user`. */
export const parseUser = ({ id, address, email, emailVerifiedAt, contractChainId, createdAt }: User): User => ({
  id,
  address,
  email,
  emailVerifiedAt,
  contractChainId,
  createdAt,
});
