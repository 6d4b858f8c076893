import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { InboxPage } from "@/components/features/inbox/inbox";
import { inboxQuery } from "@/components/features/inbox/looks";

export const metadata: Metadata = { title: "Inbox" };

const Page = (): ReactNode => (
  <Prefetched queries={[inboxQuery]}>
    <InboxPage />
  </Prefetched>
);

export default Page;
