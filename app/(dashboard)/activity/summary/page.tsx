import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { contactsQuery } from "@/components/features/contacts/use-contacts";
import { ActivitySummary } from "@/components/features/operations/activity-summary";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Summary of activity" };

const Page = (): ReactNode => (
  <Prefetched queries={[walletsQuery, contactsQuery]}>
    <ActivitySummary />
  </Prefetched>
);

export default Page;
