import type { Metadata } from "next";
import type { ReactNode } from "react";
import { SponsorSettings } from "@/components/features/profile/sections";

export const metadata: Metadata = { title: "Sponsor budgets" };

const Page = (): ReactNode => <SponsorSettings />;

export default Page;
