import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Members } from "@/components/features/members/members";

export const metadata: Metadata = { title: "Members" };

const Page = (): ReactNode => <Members />;

export default Page;
