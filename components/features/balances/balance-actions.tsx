import Link from "next/link";
import type { ReactNode } from "react";

/** Of one wallet, or of every wallet where none is named. */
export interface BalancePlace {
  readonly token: string;
  readonly chainId?: number | undefined;
  readonly walletId?: string | undefined;
}

const linkOf = (
  path: string,
  { token, chainId, walletId }: BalancePlace,
  names: { token: string; chain: string },
): string => {
  const query = new URLSearchParams();
  query.set(names.token, token);
  if (chainId !== undefined) query.set(names.chain, String(chainId));
  if (walletId !== undefined) query.set("wallet", walletId);
  return `${path}?${query.toString()}`;
};

/** Ways on from a balance; the forms open filled in. */
export const BalanceActions = (place: BalancePlace): ReactNode => (
  <span className="inline-flex gap-x-3 text-sm">
    <Link
      className="link"
      href={linkOf("/swap", place, { token: "from", chain: "chain" })}
      aria-label={`Swap ${place.token}`}
    >
      Swap
    </Link>
    <Link
      className="link"
      href={linkOf("/transfer", place, { token: "token", chain: "chain" })}
      aria-label={`Send ${place.token}`}
    >
      Send
    </Link>
    <Link
      className="link"
      href={linkOf("/receive", place, { token: "token", chain: "chain" })}
      aria-label={`Receive ${place.token}`}
    >
      Receive
    </Link>
  </span>
);
