import type { Status } from "@/lib/core/status";

export interface OperationFilter {
  readonly status?: Status | readonly Status[] | undefined;
  readonly subStatus?: string | undefined;
  readonly kind?: string | readonly string[] | undefined;
  /** Any of these. */
  readonly chainId?: readonly number[] | undefined;
  /** Any of these. */
  readonly walletId?: readonly string[] | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  readonly q?: string | undefined;
  /** A whole tag, in any case. */
  readonly tag?: string | undefined;
  /** True: leaves private operations out. */
  readonly hidesPrivate?: boolean | undefined;
}
