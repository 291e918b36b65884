"""The documents and questions of `benchmarks.everyday`: filings, INDs and contracts made up for it, with sentences that
stand near the answers and are none. A line that begins with ``#`` is a heading, one with ``**`` is set in bold,
and one that is indented goes on with the line before.

A question is put with words of its gold sentence, which must be quoted.
"""

from __future__ import annotations

FILING_A = """
# Tarnwick Pump Holdings, Inc. Annual Report on Form 10-K
For the fiscal year ended December 31, 2023.
Tarnwick Pump Holdings, Inc. is incorporated in Delaware. Its common stock is listed on the New York Stock Exchange
  under the symbol TWK.
The address of our principal executive offices is 1180 Millrace Avenue, Dayton, Ohio 45402. Our telephone number is
  (937) 555-0142.
# Item 1. Business
Our business was established in 1921 as a maker of hand pumps, and we became a public company in 1988.
We sell pumps, valves and seals to water utilities, mines and chemical plants. The Company competes with many
  companies that have more people and greater resources than the Company does.
Our largest customer, Northgate Utilities, accounted for 11% of net sales in 2023. No other customer accounted for
  more than 5%.
We operate fourteen plants in six countries. The Company leases most of its warehouses.
# Human capital
At year-end we had approximately 8,450 people around the world, of whom some 3,100 worked in the United States.
  About 22% of them are covered by collective agreements.
The Company offers its employees health insurance, pension plans and training. We ask our employees how they see the
  Company once a year. Many employees have worked for the Company for more than ten years.
# Item 1A. Risk factors
If we cannot attract and keep employees, the Company may not have the people that it needs. The number of companies
  that compete for skilled employees is growing.
The loss of our chief executive or of other executives could harm the Company. We depend on our executives.
If our auditors could not finish their audit in time, we might not be able to file our reports.
# Item 5. Market for common equity
The board declared four dividends of $0.31 per share each in 2023. On February 9, 2024 there were 5,212 holders of
  record.
# Item 7. Management's discussion
Net sales rose 6% to $2,318 million in 2023 because of higher prices. Gross margin was 34.1%.
Cash used for capital expenditures was $96 million. We ended the year with debt of $640 million.
# Item 9. Audit
We engaged Ferrand & Lowe LLP as our independent registered public accounting firm for 2023. Audit fees were $4.1
  million.
The audit committee has five members, all of them independent.
# Executive officers
Helena Prior has been President and Chief Executive Officer since 2019. She was Chief Operating Officer before.
Marcus Oyelaran has been Executive Vice President and Chief Financial Officer since 2021.
# Signatures
Pursuant to the requirements of the Securities Exchange Act, this report was signed on behalf of the registrant.
**/s/ Helena Prior
**Helena Prior, Chief Executive Officer
"""

QUESTIONS_FILING_A = (
    ("How many employees does the company have?", "approximately 8,450 people"),
    ("Who is the chief executive?", "Helena Prior"),
    ("Who is the CFO?", "Marcus Oyelaran"),
    ("Who audits the company?", "Ferrand & Lowe LLP"),
    ("Where is the head office?", "1180 Millrace Avenue"),
    ("When was the company founded?", "established in 1921"),
    ("Who is the largest customer?", "Northgate Utilities"),
    ("Where are the shares traded?", "New York Stock Exchange"),
    ("How much did it spend on capex?", "capital expenditures was $96 million"),
    ("What dividend was paid?", "four dividends of $0.31"),
    ("Where is the company incorporated?", "incorporated in Delaware"),
)

FILING_B = """
# Osprey Lantern Corporation Form 10-K 2022
Osprey Lantern Corporation, a corporation organized under the laws of Nevada, files this report for the year ended
  September 30, 2022.
Our shares trade on the Nasdaq Global Select Market under the ticker OSLN.
# Business overview
Founded in 1974 by two engineers, Osprey designs and sells lighting for tunnels, airports and ships.
Osprey's headquarters are located at 44 Beacon Quay, Portland, Maine. We own a second building there.
Sales to Harbor Transit Authority made up 17% of revenue. Companies that buy from us expect long warranties.
The company has a head start in tunnel lighting, where office buildings count for little.
# Our people
As of September 30, 2022, the Company employed 1,275 full-time and 140 part-time associates. Turnover among them was
  9%.
How well the company does depends on its employees. Employees receive shares after a year of service, and employees
  may buy more at a discount.
# Risks
A new chief executive might change our plans. Chief among the risks is the price of copper.
We were founded on trust and we could lose it. Audits by tax authorities could lead to higher taxes.
# Results
Revenue was $412.6 million, up 3% from $400.6 million. Research and development cost $38.2 million.
We paid a cash dividend of $0.12 per share in each quarter. Purchases of property and equipment came to $17.5 million.
# Directors and officers
Ingrid Castellan, 57, Chief Executive Officer and director, joined us in 2011.
Theo Brandt, 49, Chief Financial Officer, joined us in 2018. He was treasurer of a shipyard.
The board has nine directors. The chair of the board is Amara Quist.
# Accountant's fees and report
The consolidated statements have been audited by Whitcombe Hale LLP, an independent registered public accounting
  firm, as stated in its report.
Fees for taxes and other services are agreed by the audit committee before the work begins.
# Signatures
**/s/ Ingrid Castellan
"""

QUESTIONS_FILING_B = (
    ("How many people work for the company?", "employed 1,275 full-time"),
    ("Who is the CEO?", "Ingrid Castellan, 57"),
    ("Who is the chief financial officer?", "Theo Brandt"),
    ("Who is the auditor?", "Whitcombe Hale LLP"),
    ("Where is the company headquartered?", "44 Beacon Quay"),
    ("When was it established?", "Founded in 1974"),
    ("Who is the main customer?", "Harbor Transit Authority"),
    ("On which exchange is the stock listed?", "Nasdaq Global Select Market"),
    ("What was capital spending?", "property and equipment came to $17.5 million"),
    ("Who chairs the board?", "Amara Quist"),
    ("In which state is it incorporated?", "under the laws of Nevada"),
)

IND_A = """
# Investigational New Drug Application for VLX-2207
This application is submitted by Corvane Therapeutics, Inc., 9 Tidewater Road, Baltimore, Maryland. The sponsor
  shall keep records.
VLX-2207 is a selective inhibitor of the kinase MELK for the treatment of advanced ovarian cancer.
# Drug substance
The chemical name is 4-amino-N-phenylpiperidine carboxamide. Its CAS registry number is 1638277-41-9. The lot number
  is 22-014 and the catalogue number of the reference is 8841.
The drug substance is a white powder. It is stored at 2 to 8 °C and is stable for 24 months.
The drug product is a film-coated tablet of 25 mg or 100 mg. The sponsor will retest it after a year. Tablets are
  made by Fennimore Pharma Services in Cork.
# Clinical protocol
The study is an open-label, first-in-human trial in up to 48 patients at five sites. The primary objective is to
  determine the maximum tolerated dose.
Patients will take 50 mg by mouth once daily in the first cohort. The dose of later cohorts depends on safety, and
  no dose is above 400 mg.
Dosing may be delayed for toxicity. A missed dose is not made up. What the dose is in later studies will be decided
  by then.
The principal investigator is Dr. Ruth Abara of Chesapeake Cancer Institute. Investigators shall report to the
  sponsor.
Patients with active hepatitis or a history of seizures are not eligible. Each cycle lasts 28 days.
# Pharmacology and toxicology
In rats the no observed adverse effect level was 30 mg/kg/day. In dogs vomiting was seen from 10 mg/kg/day.
The half-life in dogs was 7.5 hours. The drug is metabolised by CYP3A4.
"""

QUESTIONS_IND_A = (
    ("Who is the sponsor?", "submitted by Corvane Therapeutics"),
    ("What is the CAS number?", "1638277-41-9"),
    ("What is the dose?", "50 mg by mouth once daily"),
    ("What is the drug for?", "treatment of advanced ovarian cancer"),
    ("How many patients will be enrolled?", "up to 48 patients"),
    ("Who is the principal investigator?", "Ruth Abara"),
    ("How is it stored?", "stored at 2 to 8 °C"),
    ("What is the NOAEL in rats?", "30 mg/kg/day"),
    ("Who makes the tablets?", "Fennimore Pharma Services"),
    ("Who cannot take part?", "active hepatitis or a history of seizures"),
)

IND_B = """
# IND for injection of DRT-51, general information
**Sponsor: Meridell Biologics Ltd., 200 Canal Street, Leeds
DRT-51 is a humanised antibody against interleukin-31. The proposed indication is moderate to severe atopic
  dermatitis in adults.
Obligations of a sponsor are set out in the regulations, and the sponsor takes them on when the sponsor signs.
# Chemistry and manufacturing
The antibody has CAS No. 2417893-05-6. Numbers of the lots are given below. It is manufactured at Glenroy Biotech in
  Galway under contract.
Vials hold 150 mg in 1 mL. Vials are to be kept frozen at -20 °C until use and protected from light.
The dose-related quality attributes were studied. Container and closure are common ones.
# Study plan
The first trial randomises 72 healthy volunteers and patients to DRT-51 or placebo. Volunteers are paid for their
  time.
Subjects receive a single subcutaneous injection of 75 mg, which is followed by eight weeks of observation. Higher
  doses need the consent of the safety board.
The dose was chosen with care. Whether the dose suffices is not known.
The coordinating investigator is Professor Lars Winther of the Aarhus Skin Clinic.
Pregnant women and subjects with asthma are excluded. The study ends with the last visit of the last subject.
The primary endpoint is the number of subjects with adverse events through week 8.
# Safety data
In monkeys no adverse effects were observed up to 120 mg/kg per week, which is the NOAEL. Terminal half-life was 19
  days.
"""

QUESTIONS_IND_B = (
    ("Who sponsors the study?", "Meridell Biologics"),
    ("What is the CAS registry number?", "2417893-05-6"),
    ("What dose is given?", "subcutaneous injection of 75 mg"),
    ("What is the indication?", "moderate to severe atopic dermatitis"),
    ("How many subjects take part?", "randomises 72"),
    ("Who leads the trial?", "Lars Winther"),
    ("How must the vials be stored?", "frozen at -20 °C"),
    ("What is the primary endpoint?", "adverse events through week 8"),
    ("Who manufactures the drug?", "Glenroy Biotech"),
    ("Who is excluded?", "Pregnant women and subjects with asthma"),
)

CONTRACT_A = """
# Supply Agreement
This Agreement is made on 3 March 2021 between Brightwater Resins GmbH (the Supplier) and Calder Mouldings Limited
  (the Buyer).
# 1. Supply
The Supplier shall deliver and the Buyer shall buy at least 900 tonnes of resin in each contract year. The Agreement
  sets the price of each grade.
The price is EUR 1,840 per tonne, and is reviewed each January. Invoices are payable within 45 days of receipt.
# 2. Term
This Agreement shall remain in force until 31 December 2026 unless terminated earlier. The parties may agree in
  writing to extend the Agreement.
Either party may terminate it by giving six months' written notice. When the Agreement ends, each party shall return
  the other's papers.
# 3. Warranties and liability
The Supplier warrants that the resin meets the specification for twelve months. Total liability of either party
  shall not exceed EUR 2 million.
Neither party is liable for delay where the law of force majeure excuses it. Late payment bears interest at 5% a year.
# 4. Confidentiality
Each party shall keep the other's information secret during the Agreement and for five years after it ends.
# 5. General
This Agreement shall be construed in accordance with the laws of England and Wales. Each party shall obey the law
  which applies to it.
Any dispute shall be settled by arbitration in London under the LCIA rules. Notices under the Agreement shall be in
  writing.
"""

QUESTIONS_CONTRACT_A = (
    ("When does the agreement end?", "until 31 December 2026"),
    ("Which law governs?", "laws of England and Wales"),
    ("Who are the parties?", "between Brightwater Resins GmbH"),
    ("What is the notice period?", "six months' written notice"),
    ("What is the price?", "EUR 1,840 per tonne"),
    ("When must invoices be paid?", "within 45 days of receipt"),
    ("What is the cap on liability?", "shall not exceed EUR 2 million"),
    ("Where are disputes settled?", "arbitration in London"),
)

CONTRACT_B = """
# Lease of Unit 7
This Lease dated 15 June 2020 is entered into by and between Pellworth Estates LLC, as landlord, and Juniper Foods
  Inc., as tenant.
# Article 1. Premises and use
The premises are some 12,400 square feet in Building C. The tenant shall use them as a bakery only, and shall follow
  every law that governs its trade.
# Article 2. Term and rent
The term commences on July 1, 2020 and expires on June 30, 2030. The tenant may look at the premises before the
  lease commences.
The tenant shall pay base rent of $9,300 per month on the first day of each month. A security deposit of $27,900 has
  been paid.
If the lease ends early, the tenant shall leave the premises clean. The end of a lease of another unit has no effect.
# Article 3. Default and termination
The landlord may terminate this Lease upon 30 days' notice if rent is not paid. Unpaid rent bears interest at 8% per
  annum.
# Article 4. Insurance
The tenant shall maintain liability insurance of not less than $3,000,000. The landlord insures the building.
# Article 5. Miscellaneous
This Lease is governed by the laws of the State of Vermont. No party may assign this Lease without written consent.
Disputes shall be brought before the courts of Chittenden County. The landlord's agent is Mr. Hollis Crane.
"""

QUESTIONS_CONTRACT_B = (
    ("When does the lease end?", "expires on June 30, 2030"),
    ("What is the governing law?", "laws of the State of Vermont"),
    ("Who are the parties to the lease?", "between Pellworth Estates LLC"),
    ("How much notice must be given?", "30 days' notice"),
    ("How much is the rent?", "$9,300 per month"),
    ("When does the lease begin?", "commences on July 1, 2020"),
    ("How much insurance is needed?", "not less than $3,000,000"),
    ("Which court decides disputes?", "courts of Chittenden County"),
)

# Name, text, questions; those of B are held out.
MENDED = (
    ("filing-a", FILING_A, QUESTIONS_FILING_A),
    ("ind-a", IND_A, QUESTIONS_IND_A),
    ("contract-a", CONTRACT_A, QUESTIONS_CONTRACT_A),
)
HELD_OUT = (
    ("filing-b", FILING_B, QUESTIONS_FILING_B),
    ("ind-b", IND_B, QUESTIONS_IND_B),
    ("contract-b", CONTRACT_B, QUESTIONS_CONTRACT_B),
)
