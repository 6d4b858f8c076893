import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Accounts } from "@/components/features/global-accounts/accounts";

export const metadata: Metadata = { title: "Global accounts" };

const Page = (): ReactNode => <Accounts />;

export default Page;
