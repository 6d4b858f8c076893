import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Members } from "@/components/features/members/members";
import { membersQuery } from "@/components/features/members/use-members";

export const metadata: Metadata = { title: "Members" };

const Page = (): ReactNode => (
  <Prefetched queries={[membersQuery]}>
    <Members />
  </Prefetched>
);

export default Page;
