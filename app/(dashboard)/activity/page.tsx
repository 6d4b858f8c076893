import type { Metadata } from "next";
import { listPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { Activity } from "@/components/features/operations/activity";
import { activityPages, NO_FILTERS } from "@/components/features/operations/filter-model";
import { contactsQuery } from "@/components/features/contacts/use-contacts";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Activity" };

export default listPage((isPlain) => (
  <Prefetched queries={isPlain ? [walletsQuery, contactsQuery, activityPages(NO_FILTERS)] : []}>
    <Activity />
  </Prefetched>
));
