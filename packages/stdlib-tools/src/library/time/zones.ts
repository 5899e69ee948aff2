// Time zones by IANA name. Offsets come from the platform's zone data through Intl, which for a given instant is a pure
// function of the name; abbreviations come from the table below, because Intl writes `GMT+2` for most zones.

import { work } from '@bridle/vm/families'

export interface ZoneTime {
  /** Seconds east of UTC. */
  readonly offset: number
  readonly abbreviation: string
}

/** The platform takes some microseconds. */
const UNITS_AN_OFFSET = 60

/** Names that are remembered; there are some 600, but one may be spelled in many ways. */
const MOST_NAMES = 2000

const formatters = new Map<string, Intl.DateTimeFormat | null>()

function getFormatter(zone: string): Intl.DateTimeFormat | null {
  let known = formatters.get(zone)
  if (known === undefined) {
    known = null
    // Names begin with a capital; the platform would also take `+02:00` and any spelling of the case.
    if (/^[A-Z][\w+\-/]*$/.test(zone)) {
      try {
        known = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' })
      } catch {
        // Unknown zone.
      }
    }
    if (formatters.size >= MOST_NAMES) formatters.clear()
    formatters.set(zone, known)
  }
  return known
}

export function isZone(zone: string): boolean {
  return getFormatter(zone) !== null
}

/** Offset in seconds at an instant (seconds since 1970). The zone must exist. */
export function findOffset(zone: string, seconds: number): number {
  if (zone === 'UTC') return 0
  work(UNITS_AN_OFFSET)
  const parts = getFormatter(zone)!.formatToParts(seconds * 1000)
  const text = parts.find((part) => part.type === 'timeZoneName')?.value ?? 'GMT'
  const match = /^GMT([+\-\u2212])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(text)
  if (match === null) return 0
  const size = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)
  return match[1] === '+' ? size : -size
}

export function findZoneTime(zone: string, seconds: number): ZoneTime {
  const offset = findOffset(zone, seconds)
  return { offset, abbreviation: abbreviateZone(zone, offset, seconds) }
}

/**
 * Instants at which a wall clock in the zone shows `local` (seconds since 1970 as if it were UTC), earliest first: two in
 * the hour that repeats in autumn, none in the hour that is skipped in spring.
 */
export function listLocalInstants(zone: string, local: number): number[] {
  const day = 86_400
  const offsets = new Set([findOffset(zone, local - day), findOffset(zone, local), findOffset(zone, local + day)])
  const found: number[] = []
  for (const offset of offsets) if (findOffset(zone, local - offset) === offset) found.push(local - offset)
  return found.sort((a, b) => a - b)
}

/** Zones that share letters: standard time, then summer time. */
const LETTERS: readonly (readonly [string, string, readonly string[]])[] = [
  ['GMT', 'BST', ['Europe/London', 'Europe/Belfast', 'Europe/Jersey', 'Europe/Guernsey', 'Europe/Isle_of_Man', 'GB']],
  ['WET', 'WEST', ['Europe/Lisbon', 'Atlantic/Canary', 'Atlantic/Faroe', 'Atlantic/Madeira', 'WET', 'Portugal']],
  [
    'CET',
    'CEST',
    [
      'Europe/Berlin',
      'Europe/Paris',
      'Europe/Madrid',
      'Europe/Rome',
      'Europe/Vienna',
      'Europe/Zurich',
      'Europe/Amsterdam',
      'Europe/Brussels',
      'Europe/Copenhagen',
      'Europe/Oslo',
      'Europe/Stockholm',
      'Europe/Prague',
      'Europe/Warsaw',
      'Europe/Budapest',
      'Europe/Belgrade',
      'Europe/Zagreb',
      'Europe/Ljubljana',
      'Europe/Bratislava',
      'Europe/Luxembourg',
      'Europe/Monaco',
      'Europe/Malta',
      'Europe/Andorra',
      'Europe/Gibraltar',
      'Europe/San_Marino',
      'Europe/Sarajevo',
      'Europe/Skopje',
      'Europe/Tirane',
      'Europe/Vaduz',
      'Europe/Vatican',
      'Europe/Podgorica',
      'Europe/Busingen',
      'Africa/Ceuta',
      'Africa/Tunis',
      'Africa/Algiers',
      'Arctic/Longyearbyen',
      'Poland',
      'CET',
      'MET',
    ],
  ],
  [
    'EET',
    'EEST',
    [
      'Europe/Athens',
      'Europe/Helsinki',
      'Europe/Kiev',
      'Europe/Kyiv',
      'Europe/Bucharest',
      'Europe/Sofia',
      'Europe/Riga',
      'Europe/Tallinn',
      'Europe/Vilnius',
      'Europe/Chisinau',
      'Europe/Mariehamn',
      'Europe/Kaliningrad',
      'Asia/Nicosia',
      'Asia/Beirut',
      'Africa/Cairo',
      'Africa/Tripoli',
      'Egypt',
      'EET',
    ],
  ],
  ['MSK', 'MSK', ['Europe/Moscow', 'Europe/Simferopol', 'W-SU']],
  ['IST', 'IST', ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Dublin', 'Eire']],
  ['IST', 'IDT', ['Asia/Jerusalem', 'Asia/Tel_Aviv', 'Israel']],
  ['PKT', 'PKST', ['Asia/Karachi']],
  ['JST', 'JDT', ['Asia/Tokyo', 'Japan']],
  ['KST', 'KDT', ['Asia/Seoul', 'Asia/Pyongyang', 'ROK']],
  ['CST', 'CDT', ['Asia/Shanghai', 'Asia/Taipei', 'Asia/Macau', 'PRC', 'ROC']],
  ['HKT', 'HKST', ['Asia/Hong_Kong', 'Hongkong']],
  [
    'PST',
    'PDT',
    ['Asia/Manila', 'America/Los_Angeles', 'America/Vancouver', 'America/Tijuana', 'US/Pacific', 'Canada/Pacific', 'PST8PDT'],
  ],
  ['WIB', 'WIB', ['Asia/Jakarta', 'Asia/Pontianak']],
  ['WITA', 'WITA', ['Asia/Makassar']],
  ['WIT', 'WIT', ['Asia/Jayapura']],
  [
    'MST',
    'MDT',
    [
      'America/Denver',
      'America/Boise',
      'America/Edmonton',
      'America/Phoenix',
      'America/Ciudad_Juarez',
      'America/Hermosillo',
      'America/Mazatlan',
      'America/Whitehorse',
      'America/Dawson',
      'America/Yellowknife',
      'US/Mountain',
      'US/Arizona',
      'Canada/Mountain',
      'MST7MDT',
      'MST',
      'Navajo',
    ],
  ],
  [
    'CST',
    'CDT',
    [
      'America/Chicago',
      'America/Winnipeg',
      'America/Mexico_City',
      'America/Menominee',
      'America/Matamoros',
      'America/Monterrey',
      'America/Regina',
      'America/Costa_Rica',
      'America/Guatemala',
      'America/El_Salvador',
      'America/Tegucigalpa',
      'America/Managua',
      'America/Belize',
      'America/Havana',
      'US/Central',
      'Canada/Central',
      'CST6CDT',
    ],
  ],
  [
    'EST',
    'EDT',
    [
      'America/New_York',
      'America/Toronto',
      'America/Detroit',
      'America/Indianapolis',
      'America/Indiana/Indianapolis',
      'America/Kentucky/Louisville',
      'America/Montreal',
      'America/Nassau',
      'America/Port-au-Prince',
      'America/Jamaica',
      'America/Panama',
      'America/Cancun',
      'US/Eastern',
      'US/Michigan',
      'Canada/Eastern',
      'EST5EDT',
      'EST',
      'Jamaica',
    ],
  ],
  [
    'AST',
    'ADT',
    [
      'America/Halifax',
      'America/Puerto_Rico',
      'America/Moncton',
      'America/Glace_Bay',
      'America/Barbados',
      'America/Martinique',
      'America/Santo_Domingo',
      'Atlantic/Bermuda',
      'Canada/Atlantic',
    ],
  ],
  ['NST', 'NDT', ['America/St_Johns', 'Canada/Newfoundland']],
  ['AKST', 'AKDT', ['America/Anchorage', 'America/Juneau', 'America/Nome', 'America/Sitka', 'US/Alaska']],
  ['HST', 'HDT', ['Pacific/Honolulu', 'America/Adak', 'US/Hawaii', 'HST']],
  ['SST', 'SST', ['Pacific/Pago_Pago', 'Pacific/Midway', 'US/Samoa']],
  ['ChST', 'ChST', ['Pacific/Guam', 'Pacific/Saipan']],
  ['NZST', 'NZDT', ['Pacific/Auckland', 'Antarctica/McMurdo', 'NZ']],
  [
    'AEST',
    'AEDT',
    [
      'Australia/Sydney',
      'Australia/Melbourne',
      'Australia/Hobart',
      'Australia/Brisbane',
      'Australia/Canberra',
      'Australia/Lindeman',
      'Australia/ACT',
      'Australia/NSW',
      'Australia/Victoria',
      'Australia/Queensland',
      'Australia/Tasmania',
    ],
  ],
  ['ACST', 'ACDT', ['Australia/Adelaide', 'Australia/Darwin', 'Australia/Broken_Hill', 'Australia/South', 'Australia/North']],
  ['AWST', 'AWDT', ['Australia/Perth', 'Australia/West']],
  ['SAST', 'SAST', ['Africa/Johannesburg', 'Africa/Maseru', 'Africa/Mbabane']],
  [
    'EAT',
    'EAT',
    [
      'Africa/Nairobi',
      'Africa/Addis_Ababa',
      'Africa/Kampala',
      'Africa/Dar_es_Salaam',
      'Africa/Mogadishu',
      'Africa/Djibouti',
      'Africa/Asmara',
      'Indian/Antananarivo',
    ],
  ],
  [
    'CAT',
    'CAT',
    [
      'Africa/Maputo',
      'Africa/Harare',
      'Africa/Lusaka',
      'Africa/Kigali',
      'Africa/Gaborone',
      'Africa/Khartoum',
      'Africa/Windhoek',
      'Africa/Juba',
      'Africa/Blantyre',
      'Africa/Bujumbura',
      'Africa/Lubumbashi',
    ],
  ],
  [
    'WAT',
    'WAT',
    [
      'Africa/Lagos',
      'Africa/Kinshasa',
      'Africa/Luanda',
      'Africa/Libreville',
      'Africa/Douala',
      'Africa/Niamey',
      'Africa/Ndjamena',
      'Africa/Malabo',
      'Africa/Bangui',
      'Africa/Brazzaville',
      'Africa/Porto-Novo',
    ],
  ],
  [
    'GMT',
    'GMT',
    [
      'Africa/Abidjan',
      'Africa/Accra',
      'Africa/Dakar',
      'Africa/Bamako',
      'Africa/Banjul',
      'Africa/Conakry',
      'Africa/Freetown',
      'Africa/Lome',
      'Africa/Monrovia',
      'Africa/Nouakchott',
      'Africa/Ouagadougou',
      'Atlantic/Reykjavik',
      'GMT',
      'Etc/GMT',
      'Etc/Greenwich',
      'Greenwich',
      'GMT0',
      'Etc/GMT0',
      'GMT+0',
      'GMT-0',
      'Iceland',
    ],
  ],
  ['UTC', 'UTC', ['UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal']],
]

const lettersByZone = new Map(
  LETTERS.flatMap(([standard, summer, zones]) => zones.map((zone) => [zone, { standard, summer }] as const)),
)

function abbreviateZone(zone: string, offset: number, seconds: number): string {
  const letters = lettersByZone.get(zone)
  if (letters === undefined) return formatNumericName(offset)
  // Dublin has winter letters of its own: its standard time is the one of summer.
  if (zone === 'Europe/Dublin' || zone === 'Eire') return offset === 0 ? 'GMT' : 'IST'
  if (letters.standard === letters.summer) return letters.standard
  // Standard time is the smallest of the offsets of the year around the instant. Summer time leaves at least four months of
  // it in every zone, so one reading a quarter of a year meets it.
  const quarter = 7_889_400
  const standard = Math.min(...[-2, -1, 0, 1, 2].map((step) => findOffset(zone, seconds + step * quarter)))
  return offset > standard ? letters.summer : letters.standard
}

/** `+03`, `-0330`: what the zone data itself uses for zones without letters. */
function formatNumericName(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60)
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0')
  const rest = minutes % 60
  return `${offset < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : String(rest).padStart(2, '0')}`
}
