import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { PrivatePage } from "@/components/features/private/private-page";
import {
  latestPrivateTransferQuery,
  privacyWalletsQuery,
  privateBalancesQuery,
} from "@/components/features/private/use-private";
import { tokensQuery } from "@/components/features/swap/tokens";

export const metadata: Metadata = { title: "Private" };

const Page = (): ReactNode => (
  <Prefetched
    queries={[
      privateBalancesQuery,
      privacyWalletsQuery,
      latestPrivateTransferQuery,
      tokensQuery,
    ]}
  >
    <PrivatePage />
  </Prefetched>
);

export default Page;
